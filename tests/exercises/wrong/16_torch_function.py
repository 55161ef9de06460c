"""What students hand in for exercise 16."""

import torch
from wrong_submissions import instead_of


def function(forward, backward):
    """Make a Function; what its way back needs is x, and the number."""

    def kept(ctx, x, number):
        ctx.save_for_backward(x)
        ctx.number = number
        return forward(x, number)

    def back(ctx, upstream):
        return backward(upstream, *ctx.saved_tensors, ctx.number)

    methods = {"forward": staticmethod(kept), "backward": staticmethod(back)}
    return type("Handed", (torch.autograd.Function,), methods)


def softplus(x, k):
    return torch.logaddexp(torch.zeros_like(x), k * x) / k


def gradient_of(apply, upstream, x, number):
    x = torch.tensor(x, requires_grad=True)
    return torch.autograd.grad(apply(x, number), x, torch.tensor(upstream))[0].numpy()


def second_of(apply, x, k):
    x = torch.tensor(x, requires_grad=True)
    (slope,) = torch.autograd.grad(apply(x, k).sum(), x, create_graph=True)
    return torch.autograd.grad(slope.sum(), x, materialize_grads=True)[0].numpy()


def values(task, says):
    """Mark a wrong way forward, of tensors."""

    def of(forward):
        def handed(x, number):
            return forward(torch.tensor(x), number).numpy()

        handed.__name__ = forward.__name__
        return instead_of(task, says=says)(handed)

    return of


def way_back(task, says, forward=softplus):
    """Mark a wrong way back, of tensors."""

    def of(backward):
        def handed(upstream, x, number):
            return gradient_of(function(forward, backward).apply, upstream, x, number)

        handed.__name__ = backward.__name__
        return instead_of(task, says=says)(handed)

    return of


def as_it_is(x, strength):
    return x.clone()


@values("softplus", says="divided by k")
def forgets_to_divide(x, k):
    return torch.log(1 + torch.exp(k * x))


@values("softplus", says="where is k?")
def forgets_k(x, k):
    return torch.log(1 + torch.exp(x)) / k


@values("softplus", says="the 1 is exp(0)")
def takes_one_for_its_logarithm(x, k):
    return torch.logaddexp(torch.ones_like(x), k * x) / k


@values("softplus", says="torch.logaddexp")
def overflows(x, k):
    return torch.log(1 + torch.exp(k * x)) / k


@way_back("softplus_backward", says="where does upstream enter?")
def forgets_upstream(upstream, x, k):
    return torch.sigmoid(k * x), None


@way_back("softplus_backward", says="cancel")
def has_a_k_too_many(upstream, x, k):
    return upstream * k * torch.sigmoid(k * x), None


@way_back("softplus_backward", says="the slope at k * x")
def takes_the_slope_at_x(upstream, x, k):
    return upstream * torch.sigmoid(x), None


@way_back("softplus_backward", says="the slope of the slope")
def goes_one_derivative_too_far(upstream, x, k):
    s = torch.sigmoid(k * x)
    return upstream * s * (1 - s), None


@way_back("softplus_backward", says="incorrect number of gradients")
def returns_one_gradient(upstream, x, k):
    return upstream * torch.sigmoid(k * x)


@way_back("softplus_backward", says="torch.sigmoid avoids that")
def divides_infinities(upstream, x, k):
    e = torch.exp(k * x)
    return upstream * e / (1 + e), None


@instead_of("softplus_backward", says="torch.sigmoid avoids that")
def lets_torch_derive_it(upstream, x, k):
    return gradient_of(lambda x, k: torch.log(1 + torch.exp(k * x)) / k, upstream, x, k)


@instead_of("softplus_second", says="a constant for the second derivative")
def keeps_the_slope(x, k):
    class Keeps(torch.autograd.Function):
        @staticmethod
        def forward(ctx, x, k):
            ctx.slope = torch.sigmoid(k * x)
            return softplus(x, k)

        @staticmethod
        def backward(ctx, upstream):
            return upstream * ctx.slope, None

    # As torch sees it: upstream alone leads on.
    x = torch.tensor(x, requires_grad=True)
    upstream = torch.ones_like(x, requires_grad=True)
    (slope,) = torch.autograd.grad(Keeps.apply(x, k), x, upstream, create_graph=True)
    return torch.autograd.grad(slope.sum(), x, materialize_grads=True)[0].numpy()


@instead_of("softplus_second", says="does not require grad")
def leaves_torch(x, k):
    def backward(upstream, x, k):
        return (upstream * torch.sigmoid(k * x)).detach(), None

    return second_of(function(softplus, backward).apply, x, k)


@values("reverse", says="leaves x as it is")
def reverses_forward(x, strength):
    return -strength * x


@way_back("reverse_backward", says="the true gradient", forward=as_it_is)
def hands_upstream_on(upstream, x, strength):
    return upstream, None


@way_back("reverse_backward", says="backward reverses it", forward=as_it_is)
def forgets_the_sign(upstream, x, strength):
    return strength * upstream, None


@way_back("reverse_backward", says="where does strength enter?", forward=as_it_is)
def forgets_strength(upstream, x, strength):
    return -upstream, None


@way_back("reverse_backward", says="does not enter", forward=as_it_is)
def multiplies_by_x(upstream, x, strength):
    return -strength * upstream * x, None

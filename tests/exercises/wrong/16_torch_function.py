"""What students hand in for exercise 16."""

# Name | what stands once in the solution | what stands in its place | part of what is said.
EDITS = """
forgets_to_divide | torch.logaddexp(torch.zeros_like(x), k * x) / k |
    torch.log(1 + torch.exp(k * x)) | divided by k | softplus
forgets_k | (torch.zeros_like(x), k * x) | (torch.zeros_like(x), x) | where is k? | softplus
takes_one_for_its_logarithm | .zeros_like | .ones_like | the 1 is exp(0) | softplus
overflows | torch.logaddexp(torch.zeros_like(x), k * x) |
    torch.log(1 + torch.exp(k * x)) | torch.logaddexp | softplus
forgets_upstream | upstream * torch.sigmoid( |
    torch.sigmoid( | where does upstream enter? | softplus_backward
has_a_k_too_many | upstream * torch.sigmoid( |
    upstream * ctx.k * torch.sigmoid( | cancel | softplus_backward
takes_the_slope_at_x | sigmoid(ctx.k * x) | sigmoid(x) | the slope at k * x | softplus_backward
goes_one_derivative_too_far | return upstream * torch.sigmoid(ctx.k * x) |
    s = torch.sigmoid(ctx.k * x); return upstream * s * (1 - s) |
    the slope of the slope | softplus_backward
returns_one_gradient | sigmoid(ctx.k * x), None |
    sigmoid(ctx.k * x) | incorrect number of gradients | softplus_backward
divides_infinities | torch.sigmoid(ctx.k * x) |
    torch.exp(ctx.k * x) / (1 + torch.exp(ctx.k * x)) |
    torch.sigmoid avoids that | softplus_backward
keeps_the_slope | sigmoid(ctx.k * x) |
    sigmoid(ctx.k * x.detach()) + 0 * x | a result of forward is a constant | softplus_second
leaves_torch | upstream * torch.sigmoid(ctx.k * x) |
    (upstream * torch.sigmoid(ctx.k * x)).detach() | does not require grad | softplus_second
reverses_forward | x.clone() | -strength * x | leaves x as it is | reverse
hands_upstream_on | -ctx.strength * upstream | upstream | the true gradient | reverse_backward
forgets_the_sign | -ctx.strength | ctx.strength | backward reverses it | reverse_backward
multiplies_by_x | ctx.strength = strength |
    ctx.strength = strength * x | does not enter | reverse_backward
forgets_strength | -ctx.strength * upstream | -upstream | where does strength enter? |
    reverse_backward
"""

! A function and its gradient, for the check: Fortran, without a JSON library.
!     gfortran -O2 -o program docs/examples/program.f90 && gradcheck-ref check -- ./program
! A request is one line of JSON whose reals are strings: the numbers of W are found by looking for
! "W". Points come as text, one at a time, since the hello promises no more.
module model
  implicit none
  integer, parameter :: dp = kind(1d0), outs = 2, ins = 3
  real(dp), parameter :: x(ins) = [1d0, -0.5d0, 2d0], y(outs) = [0.5d0, -0.2d0]
contains
  ! A layer of two units: the sum of (tanh(W x + b) - y)^2, and its gradient.
  subroutine loss(W, b, f, dW, db)
    real(dp), intent(in) :: W(outs, ins), b(outs)
    real(dp), intent(out) :: f, dW(outs, ins), db(outs)
    real(dp) :: t(outs)
    t = tanh(matmul(W, x) + b)
    f = sum((t - y)**2)
    db = 2 * (t - y) * (1 - t * t)
    dW = spread(db, 2, ins) * spread(x, 1, outs)
  end subroutine
end module

program answers
  use model
  implicit none
  real(dp) :: W(outs, ins), b(outs), f, dW(outs, ins), db(outs)
  character(:), allocatable :: ask, reply
  character(65536) :: line
  integer :: status
  do
    read (*, '(A)', iostat=status) line
    if (status /= 0) exit
    ask = word('"ask"')
    if (ask == 'hello') then
      reply = '"protocol": 1, "name": "program.f90", "answers": ["describe", "value", "gradient"]'
    else if (ask == 'describe') then
      reply = '"inputs": [{"name": "W", "shape": [2, 3], ' // &
        '"default": ["0.3", "-0.2", "0.1", "0.4", "0.5", "-0.6"]}, ' // &
        '{"name": "b", "shape": [2], "default": ["0.1", "-0.3"]}]'
    else
      W = transpose(reshape(reals('"W"', outs * ins), [ins, outs])) ! it comes row by row
      b = reals('"b"', outs)
      call loss(W, b, f, dW, db)
      reply = '"values": ' // list([f])
      if (ask == 'gradient') reply = '"gradient": {"W": ' // list([transpose(dW)]) // & ! so, too
        ', "b": ' // list(db) // '}'
    end if
    print '(A)', '{"id": "' // word('"id"') // '", ' // reply // '}'
    flush (6) ! or the check waits for the reply, and this for the next request
  end do
contains
  function word(key) ! in quotes, after a key
    character(*), intent(in) :: key
    character(:), allocatable :: word, rest
    rest = line(index(line, key) + len(key):)
    rest = rest(index(rest, '"') + 1:)
    word = rest(:index(rest, '"') - 1)
  end function
  function reals(key, n) ! the list of strings after a key
    character(*), intent(in) :: key
    integer, intent(in) :: n
    real(dp) :: reals(n)
    character(32) :: words(n)
    character(:), allocatable :: rest
    rest = line(index(line, key) + len(key):)
    read (rest(index(rest, '[') + 1:index(rest, ']') - 1), *) words
    read (words, *) reals
  end function
  function list(v) ! reals as JSON: with an E, three digits after it, and no blanks
    real(dp), intent(in) :: v(:)
    character(:), allocatable :: list
    character(24) :: text
    integer :: i
    list = '['
    do i = 1, size(v)
      write (text, '(ES24.16E3)') v(i)
      list = list // '"' // trim(adjustl(text)) // merge('", ', '"] ', i < size(v))
    end do
  end function
end program

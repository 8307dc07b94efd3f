// expect: cannot convert return expression of type 'TypedFuture<Int, Actual>' to return type 'TypedFuture<Int, Expected>'
import UVFutures

struct Expected: Error {}
struct Actual: Error {}

func hand(_ future: TypedFuture<Int, Actual>) -> TypedFuture<Int, Expected> {
    future
}

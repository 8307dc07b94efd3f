// expect: passing closure as a 'sending' parameter risks causing data races
import UVFutures

func carry(_ stream: FollowStream) {
    Task { _ = stream.readLine() }
}

// expect: passing closure as a 'sending' parameter risks causing data races
import UVFutures

func carry(_ resolver: DNSResolver, _ loop: EventLoop) {
    Task { _ = resolver.texts(of: "example.org", on: loop) }
}

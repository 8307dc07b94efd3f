// expect: passing closure as a 'sending' parameter risks causing data races
import TLSStreams

func carry(_ server: TLSServer) {
    Task { _ = server.handshakes }
}

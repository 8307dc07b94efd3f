// expect: passing closure as a 'sending' parameter risks causing data races
import TLSStreams

func carry(_ identity: TLSIdentity) {
    Task { _ = identity.certificates }
}

// expect: passing closure as a 'sending' parameter risks causing data races
import TLSStreams

func carry(_ connection: TLSConnection) {
    Task { _ = connection.cipher }
}

import TLSStreams
import Testing

struct TLSAlertTests {
    @Test("names of alerts and advice")
    func alerts() {
        #expect(
            TLSAlert.unknownAuthority.description == "unknown_ca"
                && TLSAlert(rawValue: 200).description == "200")
        let error = TLSError(.alert(.certificateRequired), peer: "x")
        #expect(
            "\(error)"
                == "TLS with x: the peer has ended the connection with the alert certificate_required; give this side a certificate"
        )
    }
}

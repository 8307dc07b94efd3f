import FoundationEssentials

/// Returns a string of a TXT record as a zone file has it, and `dig`: in quotes, with escapes for what is not visible. So it
/// cannot command the terminal.
func zoneText(_ string: Data) -> String {
    let escaped = string.map { byte in
        switch byte {
        case UInt8(ascii: "\""), UInt8(ascii: "\\"): "\\" + String(UnicodeScalar(byte))
        case 0x20...0x7E: String(UnicodeScalar(byte))
        default: "\\" + String(1000 + Int(byte)).dropFirst()
        }
    }
    return "\"\(escaped.joined())\""
}

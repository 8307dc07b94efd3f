extension SystemError {
    static func check(_ status: CInt, _ operation: String) throws(SystemError) {
        if status != 0 { throw SystemError(status, operation) }
    }
}

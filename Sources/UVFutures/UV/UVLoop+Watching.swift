extension UVLoop {
    func makeFileEvents() throws(UVError) -> any FileEventSource { try UVFileEvents.make(self) }
}

internal import Futures
internal import UVFutures

extension VirtualDriver {
    func makeFileEvents() throws(UVError) -> any FileEventSource {
        throw UVError(UVError.Code(rawValue: -95), "watch")
    }
}

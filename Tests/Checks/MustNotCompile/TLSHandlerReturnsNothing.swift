// expect: generic parameter 'Ignored' could not be inferred
import TLSStreams

func listen(context: TLSContext) throws {
    _ = try TLSServer(context: context) { connection in
        print(connection)
        connection.write("hello\n")
    }
}

/// A byte stream of any class: ``ByteStream`` and its subclasses conform.
///
/// If ``ConnectionPool`` asked for a subclass of `ByteStream` instead, the compiler would not infer the class from a closure
/// with several statements.
public protocol PooledConnection: ByteStream {}

extension ByteStream: PooledConnection {}

// The type that makes a backtrace of addresses is not public, and may change with the next compiler. With
// other compilers, `place` is `nil`.
#if DEBUG && compiler(>=6.3) && compiler(<6.4)
    @_spi(Internal) internal import Runtime

    extension Callers {
        /// The innermost source line outside of this library: the file with its folder, and the line number.
        package var place: String? { addresses.lazy.compactMap(place).first }

        /// Whether the layout of the runtime's tasks is known.
        static var knowsTasks: Bool { true }

        private func place(of address: UInt64) -> String? {
            if let known = places.withLock({ $0[address] }) { return known }
            let symbol = symbolicated([address], [.useSymbolCache]).first?.symbol
            let isUsers = symbol?.isOfLibrary == false
            let place =
                isUsers
                ? lines(of: address).lazy.compactMap(\.userPlace).first ?? placeAfter(address, symbol) : nil
            places.withLock { $0[address] = .some(place) }
            return place
        }

        /// The first line of the loop or the function that goes on at `address`, as far as it lies near. The compiler gives no
        /// line to where a task waits in a `for try await`.
        private func placeAfter(_ address: UInt64, _ symbol: SymbolicatedBacktrace.Symbol?) -> String? {
            guard areResumed, let symbol else { return nil }
            let near = [32, 64, 96, 128, 192, 256, 384, 512].map { address + $0 }
            return near.lazy.flatMap(lines).filter { $0.symbol?.rawName == symbol.rawName }.compactMap(
                \.userPlace
            )
            .first
        }

        /// Source lines take a thousand times as long as names: up to a fifth of a second in a large program. The
        /// calls that were inlined would take as long again, and a debug build has none.
        private func lines(of address: UInt64) -> [SymbolicatedBacktrace.Frame] {
            symbolicated([address], [.showSourceLocations, .useSymbolCache])
        }

        private func symbolicated(
            _ addresses: [UInt64], _ options: Backtrace.SymbolicationOptions
        ) -> [SymbolicatedBacktrace.Frame] {
            let frames = addresses.map {
                areResumed ? RichFrame<UInt64>.asyncResumePoint($0) : .returnAddress($0)
            }
            let backtrace = Backtrace(architecture: architecture, frames: frames, images: images)
            return backtrace.symbolicated(options: options)?.frames ?? []
        }
    }

    #if arch(arm64)
        private let architecture = "arm64"
    #else
        private let architecture = "x86_64"
    #endif

    private let images = ImageMap.capture()

    /// The places that have been looked up, by address. `nil` for an address that is not in a user's code.
    private let places = Locked<[UInt64: String?]>([:])

    /// The folder of the sources of this library.
    private let sources: String = {
        let file: String = #filePath
        let folders = file.split(separator: "/", omittingEmptySubsequences: false).dropLast(3)
        return folders.joined(separator: "/") + "/"
    }()

    extension SymbolicatedBacktrace.Frame {
        /// The place of the frame. `nil` if the frame is in this library, or in code without a source file,
        /// such as the code of a macro.
        fileprivate var userPlace: String? {
            guard let location = symbol?.sourceLocation, location.line > 0,
                !location.path.hasPrefix(sources), !location.path.hasPrefix("<"),
                !location.path.contains("/@__swiftmacro_")
            else { return nil }
            return "\(location.path.split(separator: "/").suffix(2).joined(separator: "/")):\(location.line)"
        }
    }

    extension SymbolicatedBacktrace.Symbol {
        /// Whether the name belongs to this library. A mangled name begins with a module. For an extension,
        /// the name of its module stands in front of an `E`, and the constraints of the extension stand in
        /// between.
        fileprivate var isOfLibrary: Bool {
            guard rawName.hasPrefix("$s") else { return !["main", "async_Main"].contains(rawName) }
            var rest = rawName.dropFirst(2)
            var isOwn = rest.first?.isNumber != true || modulesOfLibrary.contains(takeIdentifier(&rest))
            while isOwn, let next = rest.first {
                if next.isNumber {
                    let identifier = takeIdentifier(&rest)
                    if rest.first == "E", modulesOfLibrary.contains(identifier) { rest.removeFirst() }
                } else {
                    isOwn = next != "E"
                    rest.removeFirst()
                }
            }
            return isOwn
        }

        private func takeIdentifier(_ rest: inout Substring) -> Substring {
            let digits = rest.prefix(while: \.isNumber)
            let identifier = rest.dropFirst(digits.count).prefix(Int(digits) ?? 0)
            rest = rest[identifier.endIndex...]
            return identifier
        }
    }
#endif

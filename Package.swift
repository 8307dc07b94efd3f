// swift-tools-version: 6.2
import PackageDescription

let settings: [SwiftSetting] = [
    .swiftLanguageMode(.v6),
    .strictMemorySafety(),
    .enableUpcomingFeature("ExistentialAny"),
    .enableUpcomingFeature("InternalImportsByDefault"),
    .enableUpcomingFeature("MemberImportVisibility"),
    .enableUpcomingFeature("NonisolatedNonsendingByDefault"),
]

/// The tests of the modules whose code is compiled into that of their callers are optimized, too, but for size: that takes the
/// compiler three quarters of the time. Those of the others are not.
func testSettings(_ optimization: String) -> [SwiftSetting] {
    settings + [.unsafeFlags([optimization, "-gline-tables-only"], .when(configuration: .release))]
}

let package = Package(
    name: "swift-uv-futures",
    products: [
        .library(name: "UVFutures", targets: ["UVFutures"]),
        .library(name: "Futures", targets: ["Futures"]),
        .library(name: "ByteStreams", targets: ["ByteStreams"]),
        .library(name: "FuturesTesting", targets: ["FuturesTesting"]),
        .library(name: "TLSStreams", targets: ["TLSStreams"]),
    ],
    targets: [
        .systemLibrary(name: "CLibUV", pkgConfig: "libuv", providers: [.apt(["libuv1-dev"])]),
        .systemLibrary(name: "CFuturesRuntime"),
        .systemLibrary(name: "CFuturesSystem"),
        .target(name: "Futures", dependencies: ["CFuturesRuntime"], swiftSettings: settings),
        .target(name: "ByteStreams", dependencies: ["Futures"], swiftSettings: settings),
        .target(name: "SystemIO", dependencies: ["ByteStreams", "CFuturesSystem"], swiftSettings: settings),
        .target(name: "UVFutures", dependencies: ["SystemIO", "CLibUV"], swiftSettings: settings),
        .target(name: "FuturesTesting", dependencies: ["SystemIO"], swiftSettings: settings),
        // Without `pkgConfig:`, so that a package that does not use TLSStreams hears nothing of libssl-dev.
        .systemLibrary(name: "CFuturesTLS"),
        .target(name: "TLSStreams", dependencies: ["SystemIO", "CFuturesTLS"], swiftSettings: settings),
        .systemLibrary(name: "CHeap", path: "Tests/Support/CHeap"),
        .target(
            name: "TestSupport", dependencies: ["Futures", "ByteStreams", "CLibUV"],
            path: "Tests/Support/TestSupport",
            swiftSettings: settings),
        .testTarget(
            name: "FuturesTests", dependencies: ["Futures", "FuturesTesting", "UVFutures", "TestSupport"],
            swiftSettings: testSettings("-Osize")),
        .testTarget(
            name: "FuturesTestingTests",
            dependencies: ["FuturesTesting", "UVFutures", "ByteStreams", "TestSupport", "CHeap"],
            swiftSettings: testSettings("-Onone")),
        .testTarget(
            name: "ByteStreamsTests",
            dependencies: ["ByteStreams", "FuturesTesting", "TestSupport", "CHeap"],
            swiftSettings: testSettings("-Osize")),
        .testTarget(
            name: "UVFuturesTests",
            dependencies: [
                "UVFutures", "FuturesTesting", "TestSupport", "CLibUV", "CFuturesSystem", "CHeap",
            ],
            swiftSettings: testSettings("-Onone")),
        .systemLibrary(name: "CCertificates", path: "Tests/Support/CCertificates"),
        .testTarget(
            name: "TLSStreamsTests",
            dependencies: [
                "TLSStreams", "UVFutures", "FuturesTesting", "TestSupport", "CFuturesTLS", "CHeap",
                "CCertificates",
            ],
            swiftSettings: testSettings("-Onone")),
    ]
)

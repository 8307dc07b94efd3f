// swift-tools-version: 6.2
import PackageDescription

// A package of its own, so that no other example depends on OpenCombine.
let package = Package(
    name: "OpenCombineExample",
    dependencies: [
        .package(name: "swift-uv-futures", path: "../.."),
        .package(url: "https://github.com/OpenCombine/OpenCombine", from: "0.14.0"),
    ],
    targets: [
        .executableTarget(
            name: "OpenCombineBridge",
            dependencies: [
                .product(name: "UVFutures", package: "swift-uv-futures"),
                .product(name: "OpenCombine", package: "OpenCombine"),
            ])
    ]
)

// swift-tools-version: 6.2
import PackageDescription

// How the programs that measure operations are called and answer: ours and SwiftNIO's.
let package = Package(
    name: "Figures",
    products: [.library(name: "Figures", targets: ["Figures"])],
    targets: [.target(name: "Figures")]
)

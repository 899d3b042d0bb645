// Runs one target with the inputs of libFuzzer. FUZZ_TARGET names the target, because libFuzzer
// uses the arguments. `make fuzz` builds and runs it.

@_silgen_name("LLVMFuzzerRunDriver")
func runDriver(
  _ count: UnsafeMutablePointer<Int32>,
  _ arguments: UnsafeMutablePointer<UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>>,
  _ take: @convention(c) (UnsafePointer<UInt8>?, Int) -> Int32
) -> Int32

let name = getenv("FUZZ_TARGET").map { String(cString: $0) }
guard let target = fuzzTargets.first(where: { $0.name == name }) else {
  fatalError("FUZZ_TARGET is one of \(fuzzTargets.map { $0.name })")
}
let chosen = target

var count = CommandLine.argc
var arguments = CommandLine.unsafeArgv
exit(
  runDriver(&count, &arguments) { start, count in
    do {
      try chosen.take(Array(UnsafeBufferPointer(start: start, count: count)))
    } catch {
      fatalError("\(error)")
    }
    return 0
  })

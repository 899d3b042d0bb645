import Migrating

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#else
  import Darwin
#endif

exit(Tool(arguments: Array(CommandLine.arguments.dropFirst())).run().rawValue)

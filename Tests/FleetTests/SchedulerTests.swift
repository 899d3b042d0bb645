import Foundation
import SchemaSQLite
import SchemaTestPrograms
import SchemaTestSupport
import Testing

private func isInstalled(_ programs: String...) -> Bool {
  let folders = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
  return programs.allSatisfy { program in
    folders.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(program)") }
  }
}

/// Runs the examples of docs/fleet.md on one machine.
@Suite("Shards on a scheduler", .thorough)
struct SchedulerTests {
  private func makeTenants() throws -> Tenants {
    let tenants = try Tenants(40)
    try tenants.write("tenants.txt", (0..<40).map { Tenants.name($0) + "\n" }.joined())
    return tenants
  }

  private func shell(_ line: String, _ tenants: Tenants, _ more: [String: String] = [:]) throws {
    let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
    let run = try SchemaTestPrograms.start(
      "/bin/sh", ["-c", line], in: tenants.folder,
      environment: more.merging(["PATH": "\(programs.path):\(path)"]) { $1 }
    ).wait()
    #expect(run.code == 0, "\(run.output)\(run.errors)")
  }

  private func requireAll(_ merged: FleetOutput, _ tenants: Tenants) throws {
    #expect(merged.code == 0, "\(merged.errors)")
    #expect(merged.text.hasPrefix("40  migrated\n"))
    for number in 0..<40 { #expect(try tenants.isMigrated(Tenants.name(number))) }
  }

  @Test("GNU parallel runs each shard once", .enabled(if: isInstalled("parallel")))
  func parallel() throws {
    let tenants = try makeTenants()
    // `2/:` means this machine with two jobs, without ssh.
    try shell(
      "parallel --sshlogin 2/: --results shard-{}.jsonl schemactl fleet migrate --databases-from tenants.txt "
        + "--shard '{}/4' --format jsonl ::: 1 2 3 4", tenants)
    let reports = (1...4).map { "shard-\($0).jsonl" }
    let merged = try SchemaTestPrograms.run(
      "schemactl", ["fleet", "merge"] + reports, in: tenants.folder)
    try requireAll(FleetOutput(finished: merged), tenants)
  }

  @Test(
    "a Slurm array job runs each shard once, on a machine that counts as two nodes",
    .enabled(if: isInstalled("sbatch", "slurmctld", "slurmd") && geteuid() == 0))
  func slurm() throws {
    let tenants = try makeTenants()
    let cluster = try Cluster(tenants.folder + "/slurm")
    try tenants.write(
      "migrate.sh",
      """
      #!/bin/sh
      #SBATCH --array=1-4
      #SBATCH --output=shard-%a.jsonl
      exec schemactl fleet migrate --databases-from tenants.txt \
      --shard "$SLURM_ARRAY_TASK_ID/$SLURM_ARRAY_TASK_COUNT" --format jsonl

      """)
    try withExtendedLifetime(cluster) {
      try shell("sbatch --wait migrate.sh", tenants, ["SLURM_CONF": cluster.configuration])
    }
    let merged = try tenants.fleet(
      "merge", "shard-1.jsonl", "shard-2.jsonl", "shard-3.jsonl", "shard-4.jsonl")
    try requireAll(merged, tenants)
  }
}

/// A Slurm cluster of two nodes on this machine.
private final class Cluster {
  let configuration: String
  private let daemons: Running

  init(_ folder: String) throws {
    configuration = folder + "/slurm.conf"
    for name in ["state", "spool-n1", "spool-n2"] {
      try FileManager.default.createDirectory(
        atPath: "\(folder)/\(name)", withIntermediateDirectories: true)
    }
    let host = String(ProcessInfo.processInfo.hostName.prefix { $0 != "." })
    // Ports that another cluster probably does not use.
    let port = 20_000 + Int(getpid()) % 10_000 * 3
    try """
    ClusterName=test
    SlurmctldHost=\(host)(127.0.0.1)
    SlurmUser=root
    SlurmdUser=root
    AuthType=auth/none
    CredType=cred/none
    SlurmctldPort=\(port)
    StateSaveLocation=\(folder)/state
    SlurmdSpoolDir=\(folder)/spool-%n
    SlurmctldPidFile=\(folder)/slurmctld.pid
    SlurmdPidFile=\(folder)/slurmd-%n.pid
    ProctrackType=proctrack/pgid
    TaskPlugin=task/none
    JobAcctGatherType=jobacct_gather/none
    SelectType=select/linear
    MpiDefault=none
    ReturnToService=2
    SwitchType=switch/none
    NodeName=n[1-2] NodeHostname=\(host) NodeAddr=127.0.0.1 Port=[\(port + 1)-\(port + 2)] CPUs=1
    PartitionName=all Nodes=n[1-2] Default=YES State=UP

    """.write(toFile: configuration, atomically: false, encoding: .utf8)
    // Foundation takes a process that closes what it has inherited, as daemons do, for one that has ended, and
    // then waits for it before any other: the shell keeps that open.
    daemons = try start(
      "/bin/sh",
      [
        "-c",
        """
        slurmctld -f "$0" -D & controller=$!
        slurmd -f "$0" -N n1 -D & first=$!
        slurmd -f "$0" -N n2 -D & second=$!
        while kill -0 $PPID && [ -e "$0" ]; do sleep 0.2; done
        kill -9 $controller $first $second
        """, configuration,
      ], in: folder)
    try waitUntil {
      try run(
        "/usr/bin/env", ["SLURM_CONF=\(configuration)", "sinfo", "--noheader", "--states=idle"],
        in: folder
      ).output.contains("n[1-2]")
    }
  }

  deinit {
    try? FileManager.default.removeItem(atPath: configuration)
    _ = try? daemons.wait(seconds: 60)
  }
}

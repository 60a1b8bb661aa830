import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'

/** A processor that QEMU emulates, and the folder of the libraries of its programs. */
export type Processor = {
  readonly emulator: string
  readonly model: string
  readonly libraries: string
}

/** The processor of a Raspberry Pi 4. QEMU emulates it faster than one with all instructions. */
export const arm64: Processor = {
  emulator: 'qemu-aarch64',
  model: 'cortex-a72',
  libraries: '/usr/aarch64-linux-gnu',
}

/** A processor of 2008, without AVX. */
export const x64WithoutAvx: Processor = {
  emulator: 'qemu-x86_64',
  model: 'Nehalem',
  libraries: '/',
}

/** Node crashes with older versions, such as 7.2 of Debian 12. */
const oldestVersion = 10

/** Returns the reason to skip a test of a processor; undefined if it can be emulated. */
export function emulationSkipReason({ emulator, libraries }: Processor): string | undefined {
  if (process.platform !== 'linux' || process.arch !== 'x64')
    return 'processors are emulated on Linux with x64 only'
  const { stdout } = spawnSync(emulator, ['--version'], { encoding: 'utf8' })
  const version = Number(/version (?<major>\d+)/u.exec(stdout ?? '')?.groups?.['major'] ?? 0)
  if (version >= oldestVersion && existsSync(path.join(libraries, 'lib'))) return undefined
  return `${emulator} ${oldestVersion} or its libraries are not installed: .ci/arm64 installs them`
}

/** How to run Node on an emulated processor. */
export type EmulatedNode = {
  readonly program: string
  /** Environment variables with which the child processes of the service are emulated too. */
  readonly environment: Readonly<Record<string, string>>
}

/**
 * Writes a program that runs `node` on an emulated processor.
 *
 * The kernel does not start programs of another processor, so `process.execPath`, with which the
 * service starts its workers, has to be the written program.
 */
export async function writeEmulatedNode(
  folder: string,
  node: string,
  { emulator, model, libraries }: Processor,
): Promise<EmulatedNode> {
  await mkdir(folder, { recursive: true })
  const program = path.join(folder, 'node')
  const command = `exec ${emulator} -cpu ${model} -L '${libraries}' '${node}' "$@"`
  await writeFile(program, `#!/bin/sh\n${command}\n`, { mode: 0o755 })
  const module = path.join(folder, 'exec-path.mjs')
  await writeFile(module, `process.execPath = ${JSON.stringify(program)}\n`)
  return { program, environment: { NODE_OPTIONS: `--import=${module}` } }
}

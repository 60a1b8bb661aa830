import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { cliMainFile } from '../paths.ts'

export type CliResult = {
  /** The exit code; null after a signal. */
  readonly code: number | null
  readonly out: string
  readonly err: string
}

export type CliProcess = { readonly process: ChildProcess; readonly result: Promise<CliResult> }

/** Starts the command line in a child process. `environment` is added to that of the test. */
export function startCli(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
): CliProcess {
  const child = spawn(process.execPath, [cliMainFile, ...args], {
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let [out, err] = ['', '']
  child.stdout.on('data', (chunk: Buffer) => (out += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (err += chunk.toString()))
  const result = once(child, 'close').then(() => ({ code: child.exitCode, out, err }))
  return { process: child, result }
}

/** Runs the command line in a child process to its end, whatever its exit code is. */
export function runCli(
  args: readonly string[],
  environment?: Readonly<Record<string, string>>,
): Promise<CliResult> {
  return startCli(args, environment).result
}

/** Returns the standard output of a command. @throws Error with `code` and `stderr` when it fails. */
export async function cliOutput(
  args: readonly string[],
  environment?: Readonly<Record<string, string>>,
): Promise<string> {
  const { code, out, err } = await runCli(args, environment)
  if (code !== 0) throw Object.assign(new Error(err), { code, stderr: err })
  return out
}

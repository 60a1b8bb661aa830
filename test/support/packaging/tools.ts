import { execFile, execFileSync, type ExecFileOptions } from 'node:child_process'
import { promisify } from 'node:util'

/** Text that a program printed. */
export type ToolOutput = { readonly stdout: string; readonly stderr: string }

/** Runs a program. @throws Error with everything that it printed. */
export async function runTool(
  command: string,
  args: readonly string[],
  options: ExecFileOptions = {},
): Promise<ToolOutput> {
  try {
    const limits = { maxBuffer: 64 * 1024 * 1024, ...options }
    const { stdout, stderr } = await promisify(execFile)(command, args, limits)
    return { stdout: stdout.toString(), stderr: stderr.toString() }
  } catch (error) {
    const { stdout = '', stderr = '' } = error as Partial<ToolOutput>
    throw new Error(`${command} ${args.join(' ')} failed:\n${stdout}\n${stderr}`, { cause: error })
  }
}

/** Returns the reason to skip a test if a program is not installed. */
export function missingToolsReason(tools: readonly string[]): string | undefined {
  const missing = tools.filter((tool) => !isInstalled(tool))
  if (missing.length === 0) return undefined
  return `${missing.join(', ')} not installed here: .ci/images installs them on Debian`
}

function isInstalled(tool: string): boolean {
  try {
    execFileSync('sh', ['-c', `command -v ${tool}`], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

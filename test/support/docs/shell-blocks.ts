import { spawn } from 'node:child_process'
import type { CodeBlock } from '../../../docs/build/page-outline.ts'

/** What came of the shell blocks of one page. */
export type BlockRun = { readonly runCount: number; readonly failures: readonly string[] }

export type ShellEnvironment = {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Takes the place of the address that the pages name. */
  readonly url: string
}

const documentedAddress = 'http://127.0.0.1:8080'

/**
 * Runs the blocks one after the other in one shell, as a reader would: what one defines the next can
 * use. A block fails when its shell does, when it prints an answer that is not ok without `answers`
 * saying so, and when it does not print what `says` says (quotes left out).
 */
export async function runBlocks(
  blocks: readonly CodeBlock[],
  surroundings: ShellEnvironment,
): Promise<BlockRun> {
  const script = blocks.map(({ text }, at) => `${text}\nprintf '\\n@@%s\\n' ${at}`).join('\n')
  const { stdout: printed, stderr: complained } = await runBash(
    script.replaceAll(documentedAddress, surroundings.url),
    surroundings,
  )
  const outputs = printed.split(/\n@@\d+\n/u)
  const faults = blocks.flatMap((block, at) => {
    // Behind the last mark that was printed the shell ended.
    if (at >= outputs.length - 1) return [`${block.text}\ndid not run\n${complained}`]
    const fault = failureOf(block, outputs[at] ?? '')
    return fault === undefined ? [] : [`${block.text}\n${fault}:\n${outputs[at]}`]
  })
  return { runCount: blocks.length, failures: faults.slice(0, 1) }
}

function failureOf({ attributes: marks }: CodeBlock, output: string): string | undefined {
  const text = output.replaceAll('"', '').replaceAll(/:\s*/gu, ': ')
  const { answers, says } = marks
  if (answers === undefined && /^\{\s*ok: false/mu.test(text)) return 'is answered with an error'
  if (answers !== undefined && !text.includes(`code: ${answers}`)) return `is not ${answers}`
  if (says !== undefined && !text.includes(says)) return `does not say ${says}`
  return undefined
}

type ShellOutput = { readonly stdout: string; readonly stderr: string }

function runBash(script: string, { cwd, env }: ShellEnvironment): Promise<ShellOutput> {
  const child = spawn('bash', ['-e', '-u', '-o', 'pipefail', '-s'], { cwd, env })
  let printed = ''
  let complained = ''
  child.stdout.on('data', (chunk: Buffer) => (printed += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (complained += chunk.toString()))
  child.stdin.end(script)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', () => resolve({ stdout: printed, stderr: complained }))
  })
}

import { spawn, spawnSync } from 'node:child_process'
import type { CodeBlock } from '../../../docs/build/page-outline.ts'

/** The result of the shell blocks of one page. */
export type BlockRun = { readonly runCount: number; readonly failures: readonly string[] }

export type ShellEnvironment = {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  /** Replaces the address that the pages contain. */
  readonly url: string
}

const documentedAddress = 'http://127.0.0.1:8080'

/** How a block of each language runs in the shell. */
const commands: Readonly<Record<string, (text: string) => string>> = {
  sh: (text) => text,
  python: (text) => `python3 - <<'@@end'\n${text}\n@@end`,
  go: (text) =>
    `mkdir -p example\ncat > example/main.go <<'@@end'\n${text}\n@@end\ngo run example/main.go`,
}

const interpreters: Readonly<Record<string, readonly [program: string, argument: string]>> = {
  python: ['python3', '--version'],
  go: ['go', 'version'],
}

/** The languages of blocks that run. */
export const shellLanguages: readonly string[] = Object.keys(commands)

/** Returns why blocks of a language cannot run on this machine; undefined if they can. */
export function interpreterSkipReason(language: string): string | undefined {
  const [program, argument] = interpreters[language] ?? []
  if (program === undefined) return undefined
  const isThere = spawnSync(program, argument === undefined ? [] : [argument]).status === 0
  return isThere ? undefined : `${program} is not installed`
}

/**
 * Runs the blocks in order in one shell, so that a block can use the definitions of earlier ones. A
 * block fails if a command fails, if it prints a response with `ok: false` other than its `error`
 * attribute, or if it does not print its `prints` attribute (compared without quotes).
 */
export async function runBlocks(
  blocks: readonly CodeBlock[],
  environment: ShellEnvironment,
): Promise<BlockRun> {
  const script = blocks
    .map(({ language, text }, index) => {
      const command = commands[language]?.(text)
      if (command === undefined) throw new Error(`no command runs blocks in ${language}`)
      return `${command}\nprintf '\\n@@%s\\n' ${index}`
    })
    .join('\n')
  const { stdout, stderr } = await runBash(
    script.replaceAll(documentedAddress, environment.url),
    environment,
  )
  const outputs = stdout.split(/\n@@\d+\n/u)
  const failures = blocks.flatMap((block, index) => {
    // The shell ended after the last marker that it printed.
    if (index >= outputs.length - 1) return [`${block.text}\ndid not run\n${stderr}`]
    const failure = failureOf(block, outputs[index] ?? '')
    return failure === undefined ? [] : [`${block.text}\n${failure}:\n${outputs[index]}`]
  })
  return { runCount: blocks.length, failures: failures.slice(0, 1) }
}

function failureOf({ attributes }: CodeBlock, output: string): string | undefined {
  const text = output.replaceAll('"', '').replaceAll(/:\s*/gu, ': ')
  const { error, prints } = attributes
  if (error === undefined && /^\{\s*ok: false/mu.test(text)) return 'returned an error'
  if (error !== undefined && !text.includes(`code: ${error}`)) return `did not return ${error}`
  if (prints !== undefined && !text.includes(prints)) return `did not print ${prints}`
  return undefined
}

type ShellOutput = { readonly stdout: string; readonly stderr: string }

function runBash(script: string, { cwd, env }: ShellEnvironment): Promise<ShellOutput> {
  const child = spawn('bash', ['-e', '-u', '-o', 'pipefail', '-s'], { cwd, env })
  let stdout = ''
  let stderr = ''
  child.stdout.on('data', (chunk: Buffer) => (stdout += chunk.toString()))
  child.stderr.on('data', (chunk: Buffer) => (stderr += chunk.toString()))
  child.stdin.end(script)
  return new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', () => resolve({ stdout, stderr }))
  })
}

import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, readdir } from 'node:fs/promises'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Config } from '../../config.ts'
import type {
  ModelCommand,
  ModelCommandReport,
  ModelCommandRun,
  ModelCommands,
} from '../../console/services.ts'
import type { Clock } from '../../lib/clock.ts'
import { manifestFileName } from '../../models/installed-packs.ts'
import { masterKeyPath } from '../store-location.ts'

const program = fileURLToPath(new URL('../../cli/background-command.ts', import.meta.url))

const outputCharsMax = 20_000

/**
 * Each command runs in a new process, in the folder of incoming files: a faulty network or a download
 * does not affect the server. The commands apply their own rules and write their own audit entries.
 */
export function createModelCommands(
  config: Config,
  { modelsFolder, clock }: { readonly modelsFolder: string; readonly clock: Clock },
): ModelCommands {
  const incomingFolder = path.resolve(modelsFolder, 'incoming')
  let last: ModelCommandRun | undefined
  let child: ChildProcessWithoutNullStreams | undefined
  const update = (output: string, state: ModelCommandRun['state'] = 'running'): void => {
    if (last) last = { ...last, state, output: (last.output + output).slice(-outputCharsMax) }
    if (state !== 'running') child = undefined
  }
  return {
    report: async () => {
      return { run: last ?? null, incomingFolder, incoming: await listFiles(incomingFolder) }
    },
    start: async (command, startedBy) => {
      await mkdir(incomingFolder, { recursive: true })
      if (child) return undefined
      const args = argumentsOf(command)
      const quoted = args.map((text) => (/^[\w@./-]+$/u.test(text) ? text : JSON.stringify(text)))
      const commandLine = ['facegate', ...quoted].join(' ')
      const startedAtUtc = new Date(clock()).toISOString()
      last = { commandLine, state: 'running', startedBy, startedAtUtc, output: '' }
      child = spawn(process.execPath, [program, ...args], { cwd: incomingFolder })
      report(child, settingsOf(config, modelsFolder), update)
      return last
    },
    discard: async () => {
      const discarded = last
      last = undefined
      if (child?.kill()) await once(child, 'close')
      return discarded
    },
  }
}

/** Sends the settings to a process, and reports its output and its end. It ends with this process. */
function report(
  child: ChildProcessWithoutNullStreams,
  settings: Readonly<Record<string, string>>,
  onChange: (output: string, state?: ModelCommandRun['state']) => void,
): void {
  const kill = (): void => void child.kill()
  process.once('exit', kill)
  // A process that ends at once closes its input.
  child.stdin.on('error', () => {})
  child.stdin.end(JSON.stringify(settings))
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (output: string) => onChange(output))
  child.once('error', ({ message }) => onChange(message))
  child.once('close', (code) => {
    process.off('exit', kill)
    onChange('', code === 0 ? 'done' : 'failed')
  })
}

function argumentsOf({ command, target, options }: ModelCommand): readonly string[] {
  const flags = Object.entries(options).flatMap(([name, value]) => {
    if (typeof value === 'boolean') return value ? [`--${name}`] : []
    return [`--${name}`, String(value)]
  })
  const from = command === 'install' ? ['--from', '.'] : []
  return ['models', command, ...(target === undefined ? [] : [target]), ...from, ...flags]
}

/** The settings that `facegate models` reads, with absolute paths: it runs in another folder. */
function settingsOf(config: Config, modelsFolder: string): Readonly<Record<string, string>> {
  const { DATABASE_URL, MODEL_LICENCES, MODEL_LICENCES_CLEARED } = config
  return {
    DATA_DIR: path.resolve(config.DATA_DIR),
    MODELS_DIR: path.resolve(modelsFolder),
    MASTER_KEY_FILE: path.resolve(masterKeyPath(config)),
    DATABASE_URL,
    DATABASE_URL_FILE: '',
    MODEL_LICENCES,
    MODEL_LICENCES_CLEARED,
  }
}

async function listFiles(folder: string): Promise<ModelCommandReport['incoming']> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => [])
  return entries.map((entry) => {
    const { name } = entry
    const folderKind = existsSync(path.join(folder, name, manifestFileName)) ? 'pack' : 'folder'
    return { name, kind: entry.isDirectory() ? folderKind : 'file' }
  })
}

import { fork, type ChildProcess } from 'node:child_process'
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { saveFinding } from './engine/corpus.ts'
import { readCurrentInput } from './engine/current-input.ts'
import type { FuzzMessage, FuzzProcessOptions } from './engine/fuzz-process.ts'

export type FuzzOptions = {
  readonly targets: readonly string[]
  readonly seconds: number
  /** Ends the run earlier. */
  readonly isEnough: (byTarget: FuzzResult['byTarget']) => boolean
  /** The module that exports `allTargets`. */
  readonly targetsModule: string
  readonly seed: number
  /** Time for one target before the next one. */
  readonly sliceMs: number
  /** A process that uses this much CPU time for one input is killed. */
  readonly hangMs: number
  /** Folder of the grown corpus and of the inputs that show defects. */
  readonly folder: string
  readonly onDefect: (defect: FuzzDefect) => void
}

export type FuzzDefect = { readonly target: string; readonly text: string; readonly file: string }

export type TargetResult = {
  readonly inputs: number
  readonly corpus: number
  readonly outcomes: number
  readonly cpuMsMax: number
}

export type FuzzResult = {
  readonly byTarget: ReadonlyMap<string, TargetResult>
  readonly defects: readonly FuzzDefect[]
  /** Characters of the source code of the service that were executed. */
  readonly sourceChars: number
}

const heapMiB = 512

const checkMs = 250

/** Fuzzes the targets in turn in a child process, which is replaced after a crash or a hang. */
export async function runFuzz(options: FuzzOptions): Promise<FuzzResult> {
  const byTarget = new Map<string, TargetResult>()
  const defects: FuzzDefect[] = []
  let sourceChars = 0
  const add = (defect: FuzzDefect): void => {
    defects.push(defect)
    options.onDefect(defect)
  }
  const onMessage = (message: FuzzMessage): void => {
    if (message.kind === 'defect') return add(message)
    const inputs = (byTarget.get(message.target)?.inputs ?? 0) + message.inputs
    byTarget.set(message.target, { ...message, inputs })
    sourceChars = Math.max(sourceChars, message.source)
  }
  const endMs = performance.now() + options.seconds * 1000
  const isDone = (): boolean => performance.now() >= endMs || options.isEnough(byTarget)
  let targets = options.targets
  for (let generation = 0; !isDone(); generation++) {
    const child = startProcess({ ...options, targets, seed: options.seed + generation }, onMessage)
    const lost = await supervise(child, { isDone, hangMs: options.hangMs })
    if (!lost) break
    const target = targets[lost.targetIndex] ?? ''
    const file = saveFinding(path.join(options.folder, 'findings'), target, lost.input, lost.text)
    add({ target, text: lost.text, file })
    // The next process starts with another target, so that one defect does not use all the time.
    targets = [...targets.slice(lost.targetIndex + 1), ...targets.slice(0, lost.targetIndex + 1)]
  }
  return { byTarget, defects, sourceChars }
}

/** The parsers of the service. */
export const serviceTargetsModule = path.join(import.meta.dirname, 'targets/all-targets.ts')

export function countInputs(byTarget: FuzzResult['byTarget']): number {
  return [...byTarget.values()].reduce((sum, { inputs }) => sum + inputs, 0)
}

type FuzzProcess = { readonly child: ChildProcess; readonly currentInputFile: string }

function startProcess(
  { targets, seed, sliceMs, folder, targetsModule }: FuzzOptions,
  onMessage: (message: FuzzMessage) => void,
): FuzzProcess {
  const currentInputFile = path.join(mkdtempSync(path.join(tmpdir(), 'facegate-fuzz-')), 'input')
  writeFileSync(currentInputFile, '')
  const processOptions: FuzzProcessOptions = {
    targets,
    seed,
    sliceMs,
    targetsModule,
    corpusFolder: path.join(folder, 'corpus'),
    findingsFolder: path.join(folder, 'findings'),
    currentInputFile,
  }
  const file = path.join(import.meta.dirname, 'engine/fuzz-process.ts')
  const child = fork(file, [JSON.stringify(processOptions)], {
    execArgv: [`--max-old-space-size=${heapMiB}`, '--expose-gc'],
  })
  child.on('message', (message) => onMessage(message as FuzzMessage))
  return { child, currentInputFile }
}

type LostInput = {
  readonly targetIndex: number
  readonly input: Uint8Array
  readonly text: string
}

/** Waits until the run is done. @returns the input that stopped the process before. */
async function supervise(
  { child, currentInputFile }: FuzzProcess,
  { isDone, hangMs }: { readonly isDone: () => boolean; readonly hangMs: number },
): Promise<LostInput | undefined> {
  const exited = new Promise<string>((resolve) =>
    child.once('exit', (code, signal) => resolve(signal ?? `exit code ${code}`)),
  )
  let count = -1
  let cpuMsBefore = 0
  while (!isDone()) {
    const ended = await Promise.race([exited, sleep(checkMs)])
    const current = readCurrentInput(currentInputFile)
    if (ended !== undefined) {
      if (!current) throw new Error(`the fuzz process did not start: ${ended}`)
      return { ...current, text: `Crash: ${ended}` }
    }
    const cpuMs = readCpuMs(child.pid ?? 0)
    if (current && current.count === count && cpuMs - cpuMsBefore > hangMs) {
      child.kill('SIGKILL')
      await exited
      return { ...current, text: `Hang: over ${hangMs} ms of CPU time, without an end` }
    }
    if (current && current.count !== count) {
      count = current.count
      cpuMsBefore = cpuMs
    }
  }
  child.kill('SIGTERM')
  await exited
  return undefined
}

/** The CPU time of a process. @returns 0 if it has ended. */
function readCpuMs(pid: number): number {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return (Number(fields[11]) + Number(fields[12])) * 10
  } catch {
    return 0
  }
}

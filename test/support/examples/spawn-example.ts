import { spawn } from 'node:child_process'

/** Starts a program of the examples. Its output is read from `stdout`. */
export function spawnExample(cwd: string, file: string, environment: NodeJS.ProcessEnv) {
  return spawn(process.execPath, [file], {
    cwd,
    env: { ...process.env, ...environment },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
}

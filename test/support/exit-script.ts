import { spawn } from 'node:child_process'
import { once } from 'node:events'

/** A shell script that runs when this process ends, or earlier on request. */
export type ExitScript = { readonly run: () => Promise<void> }

/**
 * Starts a process that runs the script when its input is closed. This also happens when this process
 * is killed.
 */
export function startExitScript(script: string, ...args: readonly string[]): ExitScript {
  const child = spawn('/bin/sh', ['-c', `cat >/dev/null\n${script}`, 'sh', ...args], {
    detached: true,
    stdio: ['pipe', 'ignore', 'ignore'],
  })
  child.unref()
  // The pipe is a socket, which would keep this process running.
  if ('unref' in child.stdin && typeof child.stdin.unref === 'function') child.stdin.unref()
  return {
    run: async () => {
      const ended = once(child, 'exit')
      child.ref()
      child.stdin.end()
      await ended
    },
  }
}

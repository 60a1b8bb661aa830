/** Loaded with `node --import`: prints the modules that a process has loaded when it exits. */
import { registerHooks } from 'node:module'

const loaded: string[] = []
registerHooks({
  load: (url, context, nextLoad) => {
    loaded.push(url)
    return nextLoad(url, context)
  },
})
process.on('exit', () => {
  for (const url of loaded) process.stderr.write(`module ${url}\n`)
})

import { text } from 'node:stream/consumers'
import { runCommandLine } from './run-command-line.ts'

/**
 * Runs a command that a server starts. Its standard input contains the settings of the server, which
 * other users of the machine could read in arguments.
 */
Object.assign(process.env, JSON.parse(await text(process.stdin)))
process.exitCode = await runCommandLine(process.argv.slice(2))

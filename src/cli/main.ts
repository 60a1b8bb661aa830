import { runCommandLine } from './run-command-line.ts'

// A closed pipe, such as that of `facegate log | head`, ends the output and is not a failure.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code === 'EPIPE') process.exit(0)
  throw error
})
process.exitCode = await runCommandLine(process.argv.slice(2))

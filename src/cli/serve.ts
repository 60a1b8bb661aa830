import type { CliCommand } from './command.ts'

export const serve: CliCommand = {
  name: 'serve',
  summary: 'start the service with the settings of the environment',
  usage: 'facegate serve',
  run: async () => {
    await import('../main.ts')
  },
}

import type { CliCommand } from './command.ts'

export const serve: CliCommand = {
  name: 'serve',
  summary: 'start the service; the environment configures it',
  usage: 'facegate serve',
  run: async () => {
    await import('../main.ts')
  },
}

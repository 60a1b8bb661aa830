import { defineCommand } from '../command-line/define-command.ts'
import { outputFile } from '../command-line/value-kinds.ts'
import { required } from '../options.ts'

export const supportBundle = defineCommand({
  name: 'support-bundle',
  summary: 'write versions, settings, health and history to a file, without secrets',
  options: { to: required('<file>', 'the new file, JSON', outputFile) },
  description:
    'The file contains no key, no password, no name of a person and no data of a subject; docs/operations/console.md lists its content. The settings are those of the environment of this command, and the health of each server is its last report, at most a minute old.',
  examples: ['facegate support-bundle --to support.json'],
  run: async (values) => (await import('./write-support-bundle.ts')).writeSupportBundle(values),
})

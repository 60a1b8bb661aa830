import { defineCommand, defineGroup } from '../command-line/define-command.ts'
import { anyText, filePath, outputFile, wholeNumber } from '../command-line/value-kinds.ts'
import { flag, optional, required } from '../options.ts'

export const backup = defineCommand('backup', {
  options: { to: required('<file>', outputFile) },
  run: async (values) => (await import('./database.ts')).backUp(values),
})

export const restore = defineCommand('restore', {
  options: {
    from: required('<file>', filePath),
    deletions: required('<file|none>', {
      ...filePath,
      parse: (text) => (text === 'none' ? text : filePath.parse(text)),
    }),
  },
  run: async (values) => (await import('./database.ts')).restore(values),
})

export const deletions = defineGroup('deletions', [
  defineCommand('deletions export', {
    options: {
      to: required('<file>', outputFile),
      every: optional('<seconds>', wholeNumber(1, 99_999)),
    },
    run: async (values) => (await import('./database.ts')).exportTo(values),
  }),
  defineCommand('deletions replay', {
    options: { from: required('<file>', filePath) },
    run: async (values) => (await import('./database.ts')).replayFrom(values),
  }),
  defineCommand('deletions verify', {
    options: { key: optional('<key>', anyText) },
    arguments: { file: required('<file>', filePath) },
    run: async (values) => (await import('./verify-certificate.ts')).verifyCertificate(values),
  }),
])

/** The commands of `facegate key` for the master key. */
export const masterKeyCommands = [
  defineCommand('key create-master', {
    options: { to: required('<file>', outputFile) },
    run: async (values) => (await import('./database.ts')).create(values),
  }),
  defineCommand('key rotate-master', {
    options: { prepared: flag() },
    run: async (values) => (await import('./database.ts')).rotate(values),
  }),
  defineCommand('key add-master', {
    run: async (values) => (await import('./database.ts')).add(values),
  }),
]

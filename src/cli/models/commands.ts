import { defineCommand, defineGroup } from '../command-line/define-command.ts'
import type { ValueKind } from '../command.ts'
import { anyText, filePath, folderPath, oneOf, wholeNumber } from '../command-line/value-kinds.ts'
import { flag, optional, repeatable, required, withDefault } from '../options.ts'

const installedPack = required('<pack>', anyText, 'name of an installed pack')

const packName: ValueKind<string> = {
  rule: '1 to 64 of a-z 0-9 . _ -, beginning with a letter or a digit',
  parse: (text) => (/^[a-z0-9][a-z0-9._-]{0,63}$/u.test(text) ? text : undefined),
}

export const models = defineGroup('models', [
  defineCommand('models list', {
    options: { commercial: flag() },
    run: async (values) => (await import('./list.ts')).list(values),
  }),
  defineCommand('models prepare', {
    run: async (values) => (await import('./prepare.ts')).prepare(values),
  }),
  defineCommand('models install', {
    arguments: { pack: required('<name|folder|address>', anyText) },
    options: {
      use: flag(),
      from: optional('<folder>', folderPath),
      'accept-licence': flag(),
    },
    run: async (values) => (await import('./install.ts')).install(values),
  }),
  defineCommand('models verify', {
    arguments: { packs: repeatable('<pack>', anyText) },
    run: async (values) => (await import('./verify.ts')).verify(values),
  }),
  defineCommand('models qualify', {
    arguments: { onnx: required('<file.onnx>', filePath) },
    options: {
      pictures: required('<folder|pairs.csv>', filePath),
      name: required('<name>', packName),
      licence: required('<text>', anyText),
      'commercial-use': withDefault('<use>', oneOf(['allowed', 'forbidden', 'unclear']), 'unclear'),
      dimensions: withDefault('<n>', wholeNumber(16, 4096), '512'),
      models: repeatable('<pack>', anyText),
    },
    run: async (values) => (await import('./qualify.ts')).qualify(values),
  }),
  defineCommand('models use', {
    arguments: { pack: required('<pack|pack/model|builtin|builtin+pack>', anyText) },
    options: { role: optional('<role>', oneOf(['detector', 'recognizer', 'liveness'])) },
    run: async (values) => (await import('./use.ts')).use(values),
  }),
  defineCommand('models remove', {
    arguments: { pack: installedPack },
    run: async (values) => (await import('./remove.ts')).remove(values),
  }),
  defineCommand('models status', {
    run: async (values) => (await import('./status.ts')).status(values),
  }),
  defineCommand('models retire', {
    arguments: { model: required('<model>', anyText) },
    options: {
      confirm: optional('<model>', anyText),
      'delete-faces': flag(),
    },
    run: async (values) => (await import('./retire.ts')).retire(values),
  }),
])

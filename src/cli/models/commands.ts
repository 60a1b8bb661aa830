import { defineCommand, defineGroup } from '../command-line/define-command.ts'
import type { ValueKind } from '../command.ts'
import { anyText, filePath, folderPath, oneOf, wholeNumber } from '../command-line/value-kinds.ts'
import { flag, optional, repeatable, required, withDefault } from '../options.ts'

const installedPack = required('<pack>', 'name of an installed pack', anyText)

const packName: ValueKind<string> = {
  rule: '1 to 64 of a-z 0-9 . _ -, beginning with a letter or a digit',
  parse: (text) => (/^[a-z0-9][a-z0-9._-]{0,63}$/u.test(text) ? text : undefined),
}

export const models = defineGroup({
  name: 'models',
  summary: 'install, verify and select the models of the service',
  commands: [
    defineCommand({
      name: 'list',
      summary: 'list installed and available models',
      options: {
        commercial: flag('only models whose licence permits commercial use'),
      },
      run: async (values) => (await import('./list.ts')).list(values),
    }),
    defineCommand({
      name: 'prepare',
      summary: 'convert the built-in models now; otherwise the first start does it',
      run: async (values) => (await import('./prepare.ts')).prepare(values),
    }),
    defineCommand({
      name: 'install',
      summary: 'install a pack, a folder of models with a pack.json',
      arguments: {
        pack: required(
          '<name|folder|address>',
          'a public pack that facegate models list shows, a folder, or the URL of a pack.json',
          anyText,
        ),
      },
      options: {
        use: flag('select the models of the pack after the installation'),
        from: optional(
          '<folder>',
          'folder that is searched for the files before they are downloaded',
          folderPath,
        ),
        'accept-licence': flag(
          'required for a licence that forbids commercial use or does not clearly allow it',
        ),
      },
      run: async (values) => (await import('./install.ts')).install(values),
    }),
    defineCommand({
      name: 'verify',
      summary: 'check the installed files and run each model once',
      arguments: { packs: repeatable('<pack>', 'names of packs; without names, all', anyText) },
      run: async (values) => (await import('./verify.ts')).verify(values),
    }),
    defineCommand({
      name: 'qualify',
      summary: 'install, measure and calibrate a recognizer on your own pictures',
      arguments: { onnx: required('<file.onnx>', 'a network of the ArcFace type', filePath) },
      options: {
        pictures: required(
          '<folder|pairs.csv>',
          'labelled pictures, as for facegate evaluate verification; at least 150',
          filePath,
        ),
        name: required('<name>', 'name of the new pack', packName),
        licence: required('<text>', 'the licence of the network as its source states it', anyText),
        'commercial-use': withDefault('<use>', 'whether the licence permits commercial use', {
          ...oneOf(['allowed', 'forbidden', 'unclear']),
          default: 'unclear',
        }),
        dimensions: withDefault('<n>', 'values of a template', {
          ...wholeNumber(16, 4096),
          default: '512',
        }),
        models: repeatable(
          '<pack>',
          'the detector that you use with it; without it, the built-in one',
          anyText,
        ),
      },
      description:
        'The network has one input of 112×112 px, RGB, (pixel − 127.5) / 127.5; write a manifest for another one. The command installs it as a pack, prints the report of facegate evaluate verification, and writes the cohort, the similarity table, the figures (pack.json), card.md and curve.svg to the folder of the pack. It selects no model: facegate models use does.',
      run: async (values) => (await import('./qualify.ts')).qualify(values),
    }),
    defineCommand({
      name: 'use',
      summary: 'select models; the service uses them after the next restart',
      arguments: {
        pack: required(
          '<pack|pack/model|builtin>',
          'an installed pack, one of its models, or the built-in models',
          anyText,
        ),
      },
      options: {
        role: optional(
          '<role>',
          'change only this role',
          oneOf(['detector', 'recognizer', 'liveness']),
        ),
      },
      run: async (values) => (await import('./use.ts')).use(values),
    }),
    defineCommand({
      name: 'remove',
      summary: 'delete an installed pack that is not in use',
      arguments: { pack: installedPack },
      run: async (values) => (await import('./remove.ts')).remove(values),
    }),
    defineCommand({
      name: 'status',
      summary: 'show the number of templates of each recognizer',
      run: async (values) => (await import('./status.ts')).status(values),
    }),
    defineCommand({
      name: 'retire',
      summary: 'delete the templates of a former recognizer that no subject needs any more',
      arguments: {
        model: required('<model>', 'id@version, as in facegate models status', anyText),
      },
      options: {
        confirm: optional('<model>', 'the same model again, as the confirmation', anyText),
        'delete-faces': flag('also delete faces that have no other template'),
      },
      run: async (values) => (await import('./retire.ts')).retire(values),
    }),
  ],
})

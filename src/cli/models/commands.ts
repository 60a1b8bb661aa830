import { defineCommand, defineGroup } from '../command-line/define-command.ts'
import { anyText, folderPath, oneOf } from '../command-line/value-kinds.ts'
import { flag, optional, repeatable, required } from '../options.ts'

const installedPack = required('<pack>', 'name of an installed pack', anyText)

export const models = defineGroup({
  name: 'models',
  summary: 'install, verify and select the models of the service',
  examples: ['facegate models install recommended --use'],
  commands: [
    defineCommand({
      name: 'list',
      summary: 'list installed and available models',
      options: {
        commercial: flag('only models whose licence permits commercial use'),
      },
      examples: ['facegate models list', 'facegate models list --commercial'],
      run: async (values) => (await import('./list.ts')).list(values),
    }),
    defineCommand({
      name: 'prepare',
      summary: 'convert the built-in models now; otherwise the first start does it',
      examples: ['facegate models prepare'],
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
      examples: [
        'facegate models install recommended --use',
        'facegate models install recommended --from ./downloads',
      ],
      run: async (values) => (await import('./install.ts')).install(values),
    }),
    defineCommand({
      name: 'verify',
      summary: 'check the installed files and run each model once',
      arguments: { packs: repeatable('<pack>', 'names of packs; without names, all', anyText) },
      examples: ['facegate models verify', 'facegate models verify recommended'],
      run: async (values) => (await import('./verify.ts')).verify(values),
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
      examples: [
        'facegate models use recommended',
        'facegate models use builtin --role recognizer',
      ],
      run: async (values) => (await import('./use.ts')).use(values),
    }),
    defineCommand({
      name: 'remove',
      summary: 'delete an installed pack that is not in use',
      arguments: { pack: installedPack },
      examples: ['facegate models remove mobile'],
      run: async (values) => (await import('./remove.ts')).remove(values),
    }),
    defineCommand({
      name: 'status',
      summary: 'show the number of templates of each recognizer',
      examples: ['facegate models status'],
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
      examples: ['facegate models retire mobilefacenet@1 --confirm mobilefacenet@1'],
      run: async (values) => (await import('./retire.ts')).retire(values),
    }),
  ],
})

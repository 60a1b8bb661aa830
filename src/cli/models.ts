import { verbs } from './admin.ts'
import type { Command } from './command.ts'
import { install } from './models/install.ts'
import { list } from './models/list.ts'
import { remove } from './models/remove.ts'
import { use } from './models/use.ts'
import { verify } from './models/verify.ts'

export const models: Command = {
  name: 'models',
  summary: 'install, try and choose the networks that the service looks with',
  usage: `facegate models list [--json]
facegate models install <name|folder|address> [--use] [--from <folder>] [--accept-licence] [--json]
facegate models verify [<pack>...] [--json]
facegate models use <pack|pack/model|builtin> [--role detector|recognizer|liveness] [--json]
facegate models remove <pack> [--json]

  Begin with: facegate models install recommended --use
  A pack is a folder of networks with a pack.json; <name> is one of the public packs
  that list shows. --from names a folder that is looked into for the files before they
  are fetched. Licences that forbid business use, or do not say, need --accept-licence.
  What is chosen with use counts from the next start of the service.`,
  run: verbs({ list, install, verify, use, remove }),
}

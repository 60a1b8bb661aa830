import { subcommands } from '../with-store.ts'
import type { CliCommand } from '../command.ts'
import { install } from './install.ts'
import { list } from './list.ts'
import { prepare } from './prepare.ts'
import { remove } from './remove.ts'
import { retire } from './retire.ts'
import { status } from './status.ts'
import { use } from './use.ts'
import { verify } from './verify.ts'

export const models: CliCommand = {
  name: 'models',
  summary: 'install, try and choose the networks that the service looks with',
  usage: `facegate models list [--json]
facegate models prepare [--json]
facegate models install <name|folder|address> [--use] [--from <folder>] [--accept-licence] [--json]
facegate models verify [<pack>...] [--json]
facegate models use <pack|pack/model|builtin> [--role detector|recognizer|liveness] [--json]
facegate models remove <pack> [--json]
facegate models status [--json]
facegate models retire <model> --confirm <model> [--with-faces] [--json]

  Begin with: facegate models install recommended --use
  prepare converts the built-in networks now, which else the first start does.
  A pack is a folder of networks with a pack.json; <name> is one of the public packs
  that list shows. --from names a folder that is looked into for the files before they
  are fetched. Licences that forbid business use, or do not say, need --accept-licence.
  What is chosen with use counts from the next start of the service.
  status says how far the galleries have come to a new recognizer's templates; retire
  deletes those of a former one when no subject needs them any more; faces that have no
  other go with --with-faces.`,
  run: subcommands({ list, prepare, install, verify, use, remove, status, retire }),
}

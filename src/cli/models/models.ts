import { subcommands, type CliCommand } from '../command.ts'
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
  summary: 'install, verify and select the models of the service',
  usage: `facegate models list [--json]
facegate models prepare [--json]
facegate models install <name|folder|address> [--use] [--from <folder>] [--accept-licence] [--json]
facegate models verify [<pack>...] [--json]
facegate models use <pack|pack/model|builtin> [--role detector|recognizer|liveness] [--json]
facegate models remove <pack> [--json]
facegate models status [--json]
facegate models retire <model> --confirm <model> [--delete-faces] [--json]

  Start with: facegate models install recommended --use
  list: installed and available models.
  prepare: converts the built-in models now; otherwise the first start does it.
  install: installs a pack, a folder of models with a pack.json. <name> is a public pack
    that list shows. --from: folder that is searched for the files before they are
    downloaded. --accept-licence: required for a licence that forbids commercial use or
    does not clearly allow it.
  verify: checks the installed files and runs each model once.
  use: selects models. The service uses them after the next restart.
  status: number of templates of each recognizer.
  retire: deletes the templates of a former recognizer when no subject needs them any
    more. --delete-faces: also deletes faces that have no other template.`,
  run: subcommands({ list, prepare, install, verify, use, remove, status, retire }),
}

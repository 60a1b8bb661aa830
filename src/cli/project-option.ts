import { anyText } from './command-line/value-kinds.ts'
import { optional, required } from './options.ts'

const form = '<id or name>'

/** The project of a command that needs one. */
export const requiredProject = required(form, 'id or name of the project', anyText)

/** The project of a command that otherwise concerns all projects. */
export const optionalProject = optional(form, 'only this project, by its id or name', anyText)

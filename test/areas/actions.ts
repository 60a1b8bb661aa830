import { runArea } from '../support/areas.ts'

runArea('actions')

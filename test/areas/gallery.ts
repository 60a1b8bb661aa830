import { runArea } from '../support/areas.ts'

runArea('gallery')

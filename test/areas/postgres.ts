import { runArea } from '../support/areas.ts'

runArea('postgres')

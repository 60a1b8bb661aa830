import { runOnPgvector } from '../support/database/engine.ts'

runOnPgvector(['gallery/models/two-recognizers'])

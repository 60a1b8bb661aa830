import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  type Sampler,
} from '@opentelemetry/sdk-trace'
import type { SamplerName } from './telemetry.ts'

const parentBasedPrefix = 'parentbased_'

/** The samplers by the names of `OTEL_TRACES_SAMPLER`, which this SDK leaves to the program. */
export function createSampler(name: SamplerName, ratio: number): Sampler {
  const root = createRootSampler(name.replace(parentBasedPrefix, ''), ratio)
  return name.startsWith(parentBasedPrefix) ? new ParentBasedSampler({ root }) : root
}

function createRootSampler(name: string, ratio: number): Sampler {
  if (name === 'always_on') return new AlwaysOnSampler()
  if (name === 'always_off') return new AlwaysOffSampler()
  return new TraceIdRatioBasedSampler(ratio)
}

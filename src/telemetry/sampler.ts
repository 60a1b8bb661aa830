import {
  AlwaysOffSampler,
  AlwaysOnSampler,
  ParentBasedSampler,
  TraceIdRatioBasedSampler,
  type Sampler,
} from '@opentelemetry/sdk-trace'
import type { SamplerName } from './telemetry-options.ts'

const parentBasedPrefix = 'parentbased_'

/** Creates a sampler by its name in `OTEL_TRACES_SAMPLER`. This SDK does not read the variable. */
export function createSampler(name: SamplerName, ratio: number): Sampler {
  const root = createRootSampler(name.replace(parentBasedPrefix, ''), ratio)
  return name.startsWith(parentBasedPrefix) ? new ParentBasedSampler({ root }) : root
}

function createRootSampler(name: string, ratio: number): Sampler {
  if (name === 'always_on') return new AlwaysOnSampler()
  if (name === 'always_off') return new AlwaysOffSampler()
  return new TraceIdRatioBasedSampler(ratio)
}

/** An instruction of a Dockerfile: `COPY --from=console /app/web/dist web/dist` in its parts. */
export type DockerInstruction = {
  readonly name: string
  readonly options: Readonly<Record<string, string>>
  /** Everything after the options, lines joined. */
  readonly text: string
}

/** One `FROM` and what follows it. */
export type BuildStage = {
  readonly image: string
  readonly name: string | undefined
  readonly instructions: readonly DockerInstruction[]
}

/** Reads as much of the format as this project's own file uses. */
export function parseDockerfile(source: string): readonly BuildStage[] {
  const lines = source
    .replaceAll(/^#.*\n/gmu, '')
    .replaceAll(/\\\n\s*/gu, '')
    .split('\n')
    .filter((line) => line.trim() !== '')
  const stages: { image: string; name: string | undefined; instructions: DockerInstruction[] }[] =
    []
  for (const instruction of lines.map(parseInstruction)) {
    if (instruction.name === 'FROM') {
      const [image = '', , name] = instruction.text.split(/\s+/u)
      stages.push({ image, name, instructions: [] })
    } else stages.at(-1)?.instructions.push(instruction)
  }
  return stages
}

function parseInstruction(line: string): DockerInstruction {
  const [, name = '', options = '', text = ''] =
    /^([A-Z]+)\s+((?:--\S+\s+)*)(.*)$/u.exec(line.trim()) ?? []
  const pairs = [...options.matchAll(/--([a-z-]+)=(\S+)/gu)]
  return {
    name,
    options: Object.fromEntries(pairs.map(([, option = '', value = '']) => [option, value])),
    text,
  }
}

/** The arguments of `CMD ["node", "x"]`, of `HEALTHCHECK … CMD […]` and of `ENTRYPOINT […]`. */
export function commandArgumentsOf(step: DockerInstruction | undefined): readonly string[] {
  const list = /\[.*\]$/u.exec(step?.text ?? '')?.[0]
  if (list === undefined) throw new Error(`${step?.name} ${step?.text} has no list of arguments`)
  // A list of texts, or the builder would refuse it too.
  return JSON.parse(list) as string[]
}

/** What `ENV A=1 B=2` sets. */
export function environmentVariablesOf(
  steps: readonly DockerInstruction[],
): Readonly<Record<string, string>> {
  const pairs = steps
    .filter(({ name }) => name === 'ENV')
    .flatMap(({ text }) => [...text.matchAll(/(\w+)=(\S*)/gu)])
  return Object.fromEntries(pairs.map(([, name = '', value = '']) => [name, value]))
}

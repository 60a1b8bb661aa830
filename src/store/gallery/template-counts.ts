import type { ReadTx } from '../tx.ts'

/** How many templates of an account were made by which model. */
export function countAccountTemplates(
  reading: ReadTx,
  accountId: string,
): Promise<readonly { readonly modelId: string; readonly faces: number }[]> {
  const query = reading.build
    .selectFrom('templates')
    .innerJoin('faces', 'faces.faceId', 'templates.faceId')
    .innerJoin('galleries', 'galleries.galleryId', 'faces.galleryId')
    .select((row) => ['modelId', row.fn.countAll<number>().as('faces')])
    .where('accountId', '=', accountId)
    .groupBy('modelId')
  return reading.run(query)
}

import { expect, it } from 'vitest';
import { edited, nothing, placeOf, rowsOf, sameAs, sizeOf, staying } from './wanted';

const list = ['أم كلثوم', 'فيروز', '__proto__'];
const texts = (edit: Parameters<typeof rowsOf>[1], of: readonly string[] = list) => staying(rowsOf(of, edit)).map(({ text }) => text);
const row = (edit: Parameters<typeof rowsOf>[1], i: number) => rowsOf(list, edit)[i]!;

it('an edit changes, takes away and adds, and each of it is taken back', () => {
  let edit = edited(nothing, row(nothing, 0), 'ام كلثوم');
  edit = edited(edit, row(edit, 2), null);
  edit = { ...edit, added: ['عمرو دياب', 'وردة'] };
  expect([texts(edit), sizeOf(list, edit)]).toEqual([['ام كلثوم', 'فيروز', 'عمرو دياب', 'وردة'], 4]);
  expect(row(edit, 2)).toMatchObject({ text: '__proto__', gone: true }); // it stays in sight
  edit = edited(edit, row(edit, 3), null);
  edit = edited(edit, row(edit, 3), 'وردة الجزائرية');
  expect(texts(edit)).toEqual(['ام كلثوم', 'فيروز', 'وردة الجزائرية']);
  edit = edited(edited(edit, row(edit, 0), list[0]!), row(edit, 2), list[2]!);
  expect(edited(edit, row(edit, 3), null)).toEqual(nothing);
});

it('an edit lies over what the station has by then: what another operator did stays', () => {
  const edit = { changed: { 'فيروز': null, 'أم كلثوم': 'Oum Kalthoum' }, added: ['وردة'] };
  expect(texts(edit, ['شادية', 'أم كلثوم'])).toEqual(['شادية', 'Oum Kalthoum', 'وردة']);
  expect(sizeOf(['شادية', 'أم كلثوم'], edit)).toBe(2);
});

it('a name is known in another spelling, unless it is taken away', () => {
  const rows = rowsOf(list, nothing);
  expect(sameAs(rows, ' ام كُلثوم ')?.text).toBe('أم كلثوم');
  expect(sameAs(rowsOf(list, { changed: { 'أم كلثوم': null }, added: [] }), 'ام كلثوم')).toBeUndefined();
});

it('a refusal names an entry, the list, or something else', () => {
  expect(['body.replace[3]', 'body.queries[0]', 'body.queries', 'body.category'].map(placeOf)).toEqual([3, 0, -1, undefined]);
});

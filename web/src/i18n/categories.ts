import type { Language } from '../text/format';

/** Apple's categories of podcasts in Arabic. */
const arabic: Record<string, string> = {
  Arts: 'الفنون', Books: 'الكتب', Design: 'التصميم', 'Fashion & Beauty': 'الأزياء والجمال', Food: 'الطعام', 'Performing Arts': 'الفنون الأدائية', 'Visual Arts': 'الفنون البصرية',
  Business: 'الأعمال', Careers: 'المهن', Entrepreneurship: 'ريادة الأعمال', Investing: 'الاستثمار', Management: 'الإدارة', Marketing: 'التسويق', 'Non-Profit': 'العمل غير الربحي',
  Comedy: 'الكوميديا', 'Comedy Interviews': 'مقابلات كوميدية', Improv: 'الارتجال', 'Stand-Up': 'ستاند أب',
  Education: 'التعليم', Courses: 'الدورات', 'How To': 'كيف تفعل', 'Language Learning': 'تعلّم اللغات', 'Self-Improvement': 'تطوير الذات',
  Fiction: 'القصص الخيالية', 'Comedy Fiction': 'قصص كوميدية', Drama: 'الدراما', 'Science Fiction': 'الخيال العلمي',
  Government: 'الشؤون الحكومية', History: 'التاريخ',
  'Health & Fitness': 'الصحة واللياقة', 'Alternative Health': 'الطب البديل', Fitness: 'اللياقة', Medicine: 'الطب', 'Mental Health': 'الصحة النفسية', Nutrition: 'التغذية', Sexuality: 'الصحة الجنسية',
  'Kids & Family': 'الأطفال والأسرة', 'Education for Kids': 'تعليم الأطفال', Parenting: 'تربية الأبناء', 'Pets & Animals': 'الحيوانات', 'Stories for Kids': 'قصص للأطفال',
  Leisure: 'أوقات الفراغ', 'Animation & Manga': 'الرسوم المتحركة والمانجا', Automotive: 'السيارات', Aviation: 'الطيران', Crafts: 'الأشغال اليدوية', Games: 'الألعاب', Hobbies: 'الهوايات', 'Home & Garden': 'المنزل والحديقة', 'Video Games': 'ألعاب الفيديو',
  Music: 'الموسيقى', 'Music Commentary': 'التعليق الموسيقي', 'Music History': 'تاريخ الموسيقى', 'Music Interviews': 'مقابلات موسيقية',
  News: 'الأخبار', 'Business News': 'أخبار الأعمال', 'Daily News': 'الأخبار اليومية', 'Entertainment News': 'أخبار الترفيه', 'News Commentary': 'التعليق على الأخبار', Politics: 'السياسة', 'Sports News': 'أخبار الرياضة', 'Tech News': 'أخبار التقنية',
  'Religion & Spirituality': 'الدين والروحانيات', Buddhism: 'البوذية', Christianity: 'المسيحية', Hinduism: 'الهندوسية', Islam: 'الإسلام', Judaism: 'اليهودية', Religion: 'الأديان', Spirituality: 'الروحانيات',
  Science: 'العلوم', Astronomy: 'علم الفلك', Chemistry: 'الكيمياء', 'Earth Sciences': 'علوم الأرض', 'Life Sciences': 'علوم الحياة', Mathematics: 'الرياضيات', 'Natural Sciences': 'العلوم الطبيعية', Nature: 'الطبيعة', Physics: 'الفيزياء', 'Social Sciences': 'العلوم الاجتماعية',
  'Society & Culture': 'المجتمع والثقافة', Documentary: 'وثائقي', 'Personal Journals': 'يوميات شخصية', Philosophy: 'الفلسفة', 'Places & Travel': 'الأماكن والسفر', Relationships: 'العلاقات',
  Sports: 'الرياضة', Baseball: 'البيسبول', Basketball: 'كرة السلة', Cricket: 'الكريكيت', 'Fantasy Sports': 'رياضة الفانتازي', Football: 'كرة القدم الأمريكية', Golf: 'الجولف', Hockey: 'الهوكي', Rugby: 'الرجبي', Running: 'الجري', Soccer: 'كرة القدم', Swimming: 'السباحة', Tennis: 'التنس', Volleyball: 'الكرة الطائرة', Wilderness: 'البرّية', Wrestling: 'المصارعة',
  Technology: 'التقنية', 'True Crime': 'جرائم حقيقية', 'TV & Film': 'التلفزيون والسينما', 'After Shows': 'ما بعد العرض', 'Film History': 'تاريخ السينما', 'Film Interviews': 'مقابلات سينمائية', 'Film Reviews': 'مراجعات الأفلام', 'TV Reviews': 'مراجعات المسلسلات',
};

/** A category, "News > Daily News", as it is said in a language. */
export function categoryName(category: string, language: Language): string {
  const parts = category.split('>').map((part) => part.trim());
  return language === 'ar' ? parts.map((part) => arabic[part] ?? part).join(' ‹ ') : parts.join(' › ');
}

/** The first part of a category. */
export const groupOf = (category: string): string => category.split('>')[0]?.trim() ?? '';

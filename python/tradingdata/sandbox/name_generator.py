"""Names of invented companies, for a listing long enough to page through."""

from __future__ import annotations

from collections.abc import Iterator

_PLACES = """
Aravalli Arunodaya Ashwini Bhagirathi Bhavani Brahmani Chambal Chandrika Chenab Darshan Deccan
Dhanvi Gandaki Garhwal Girnar Godavari Gomti Harit Hemavati Himgiri Indrayani Jhelum Kalindi
Kamakshi Kanha Kaveri Konkan Koshi Krishnaveni Kumaon Lakshya Madhavi Mahanadi Malabar Malwa
Mandakini Manimala Marudhar Meghna Nandini Narmada Navketan Nilgiri Nirmal Padmaja Palash
Panchvati Pranav Pushkar Rajgir Ratnagiri Rewa Sabarmati Sahyadri Samruddhi Saptarishi Saraswat
Satpura Saurashtra Shivalik Shreyas Sindhu Subarna Suvarna Swarna Tapti Tejas Triveni Tungabhadra
Udaan Ujjain Utkal Vaibhav Vaitarna Varuna Vasundhara Vindhya Vishwa Yamuna Zanskar
""".split()

_TRADES = {
    "Aerospace & Defense": "Aerotech|Defence Systems",
    "Agricultural Food": "Agro Foods|Tea Estates|Edible Oils",
    "Auto Components": "Auto Parts|Gears|Tyres",
    "Banks": "Small Finance Bank",
    "Capital Markets": "Securities|Broking",
    "Cement & Cement Products": "Cement",
    "Chemicals & Petrochemicals": "Chemicals|Dyes & Pigments|Organics",
    "Construction": "Infra Projects|Constructions",
    "Consumer Durables": "Ceramics|Appliances|Jewels",
    "Electrical Equipment": "Electricals|Transformers",
    "Entertainment": "Media Works",
    "Ferrous Metals": "Steels|Ispat|Tubes",
    "Fertilizers & Agrochemicals": "Fertilisers|Crop Sciences",
    "Finance": "Finlease|Capital|Investments|Housing Finance",
    "Food Products": "Sugar Mills|Dairy|Biscuits",
    "Healthcare Services": "Hospitals|Diagnostics",
    "IT - Software": "Infotech|Software|Digital Systems",
    "Industrial Products": "Castings|Bearings|Packaging|Cables",
    "Leisure Services": "Hotels|Resorts",
    "Minerals & Mining": "Minerals",
    "Non - Ferrous Metals": "Alloys",
    "Personal Products": "Wellness",
    "Pharmaceuticals & Biotechnology": "Pharma|Lifesciences|Biotech|Drugs",
    "Power": "Power|Green Energy",
    "Realty": "Realty|Estates & Developers",
    "Retailing": "Retail Stores",
    "Textiles & Apparels": "Textiles|Spinners|Fashions|Syntex|Denim",
    "Transport Services": "Logistics|Roadlines",
}


def names(count: int) -> Iterator[tuple[str, str]]:
    """Yields `count` different company names, each with its industry, in a scrambled order."""
    trades = [
        (trade, industry) for industry, words in _TRADES.items() for trade in words.split("|")
    ]
    total = len(_PLACES) * len(trades)
    stride = 2311
    if count > total or total % stride == 0:
        raise ValueError(f"there are only {total} invented names")
    for step in range(count):
        place, trade = divmod(step * stride % total, len(trades))
        yield f"{_PLACES[place]} {trades[trade][0]} Ltd", trades[trade][1]
